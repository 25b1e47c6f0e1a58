/** What part of the page is seen. One camera serves both sides, so that paired boxes stay at one height on the screen. */
import type { SideName } from './types';

export interface Camera {
  readonly scroll: number; // layout y at the top edge of the window
  readonly scale: number; // window pixels per layout unit, vertically; above 1 horizontally as well
  /**
   * Added to golden's y: 0 except while a pair is selected whose boxes the layout could not put at one height (their order
   * differs on the two sides).
   */
  readonly goldenShift: number;
}

const LARGEST_SCALE = 2;

/** Horizontal scale: a smaller vertical scale is an overview and keeps the full width. */
export function scaleX(camera: Camera): number {
  return Math.max(1, camera.scale);
}

export function smallestScale(contentHeight: number, windowHeight: number): number {
  return Math.min(1, windowHeight / Math.max(1, contentHeight + 40));
}

function shiftOf(camera: Camera, side: SideName): number {
  return side === 'golden' ? camera.goldenShift : 0;
}

/** Window y of a layout y. */
export function toWindow(camera: Camera, side: SideName, y: number): number {
  return (y + shiftOf(camera, side) - camera.scroll) * camera.scale;
}

export function toLayout(camera: Camera, side: SideName, y: number): number {
  return y / camera.scale + camera.scroll - shiftOf(camera, side);
}

const MARGIN = 12; // layout units above the first and below the last box

/** Keeps the page in the window: no scrolling into emptiness. */
export function clampCamera(camera: Camera, contentHeight: number, windowHeight: number): Camera {
  const scale = Math.min(LARGEST_SCALE, Math.max(smallestScale(contentHeight, windowHeight), camera.scale));
  const lowest = -MARGIN;
  const highest = Math.max(lowest, contentHeight + MARGIN - windowHeight / scale);
  const room = Math.abs(camera.goldenShift);
  return { scale, scroll: Math.min(highest + room, Math.max(lowest - room, camera.scroll)), goldenShift: camera.goldenShift };
}

/** Zooms by `factor` and keeps what is at window y `at` where it is. */
export function zoomAt(camera: Camera, factor: number, at: number): Camera {
  const scale = Math.min(LARGEST_SCALE, camera.scale * factor);
  return { ...camera, scale, scroll: camera.scroll + at / camera.scale - at / scale };
}

/** Puts layout range [top, bottom] into the window; scrolls no further than needed unless `centre`. */
export function bringIntoView(camera: Camera, top: number, bottom: number, windowHeight: number, centre: boolean): Camera {
  const visible = windowHeight / camera.scale;
  const margin = Math.min(48, visible / 4);
  if (centre || bottom - top > visible) {
    const third = Math.max(0, (visible - (bottom - top)) * 0.33);
    return { ...camera, scroll: top - third };
  }
  if (top < camera.scroll + margin) return { ...camera, scroll: top - margin };
  if (bottom > camera.scroll + visible - margin) return { ...camera, scroll: bottom + margin - visible };
  return camera;
}
