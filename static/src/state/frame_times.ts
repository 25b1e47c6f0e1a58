/** How long the last frame took to draw; read by tests and measurements. */

export interface FrameTimes {
  frames: number;
  last: number; // milliseconds of script for the last base frame
}

export const frameTimes: FrameTimes = { frames: 0, last: 0 };
