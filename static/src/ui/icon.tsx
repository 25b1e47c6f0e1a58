/** A 16 × 16 line icon in the current text colour. */

export function Icon({ path }: { readonly path: string }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round">
      <path d={path} />
    </svg>
  );
}
