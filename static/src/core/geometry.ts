/** Sizes of boxes in layout units (CSS pixels at scale 1), and how far a nested box is set in. */

export const HEADER = 27; // height of a box without children, or of a container's header
export const GAP = 4; // between siblings
export const PAD_BOTTOM = 5; // below the last child of a container
export const PILL = 20; // height of a call drawn as a pill
export const PILL_STEP = 24; // from one row of pills to the next
export const PILL_GAP = 4;
export const PILL_PADDING = 18; // left and right of a pill's text together
export const BAR = 4; // the coloured bar at the left of a box
export const CONTENT_LEFT = 14; // where pills begin inside their container

const INDENT_LEFT = 13;
const INDENT_RIGHT = 9;

/**
 * Left and right inset of a box at a depth (children of the root have depth 1). Linear for the first levels, then ever
 * smaller steps towards a limit: a chain 10,000 deep still has boxes of 40 % of the pane, each inside its parent.
 */
export function insetLeft(depth: number, width: number): number {
  const limit = width * 0.42;
  return limit * (1 - Math.exp((-INDENT_LEFT * (depth - 1)) / limit));
}

export function insetRight(depth: number, width: number): number {
  const limit = width * 0.16;
  return limit * (1 - Math.exp((-INDENT_RIGHT * (depth - 1)) / limit));
}

export function boxWidth(depth: number, width: number): number {
  return width - insetLeft(depth, width) - insetRight(depth, width);
}

/** Whether a number stands beside a title in one row: it gives way to a title that it alone would cut, not to one that is cut anyway. */
export function numberStays(title: number, room: number, number: number): boolean {
  return title + number <= room || (title > room && room >= 3 * number);
}
