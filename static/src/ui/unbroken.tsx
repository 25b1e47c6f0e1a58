/** A sentence whose numbers are never broken over two lines. */
import { numberParts } from '../core/number_parts';

export function Unbroken({ text }: { readonly text: string }) {
  return (
    <>
      {numberParts(text).map((part, i) =>
        i % 2 === 0 ? (
          part
        ) : (
          <span key={i} class="unbroken">
            {part}
          </span>
        ),
      )}
    </>
  );
}
