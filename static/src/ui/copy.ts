/** Copying that also works on plain http, where the clipboard API does not exist. */
import { note } from '../state/app';
import { t } from '../i18n';

const NOTE_TIME = 2500;
let timer: ReturnType<typeof setTimeout> | undefined;

export function showNote(text: string, time = NOTE_TIME): void {
  note.value = text;
  clearTimeout(timer);
  timer = setTimeout(() => (note.value = ''), time);
}

function copyBySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('readonly', '');
  area.style.cssText = 'position:fixed;top:0;left:0;opacity:0';
  document.body.append(area);
  const focused = document.activeElement as HTMLElement | null;
  area.select();
  let copied = false;
  try {
    copied = document.execCommand('copy');
  } catch {
    copied = false;
  }
  area.remove();
  focused?.focus?.();
  return copied;
}

/** Copies and says so. */
export async function copyText(text: string, said: string): Promise<boolean> {
  let copied = false;
  try {
    if (navigator.clipboard && window.isSecureContext) {
      await navigator.clipboard.writeText(text);
      copied = true;
    }
  } catch {
    // Refused by a policy of the frame: the old way may still work.
  }
  copied = copied || copyBySelection(text);
  showNote(copied ? said : t('copy.failed'));
  return copied;
}
