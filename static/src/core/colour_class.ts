/** One class of a colouring: what a node is drawn as, by colour and by a second sign. */

/** How a class is drawn: its colour is the theme's variable `--c-{id}`, its second sign a letter or shape. */
export interface ColourClass {
  readonly id: string;
  readonly sign: string; // shown beside the colour; '' where nothing is wrong
  readonly strong: boolean; // a cause: never folded away, at least 2 px high in the overview
  readonly range?: string; // of a step of a scale: from which value to which
}

export function colourClass(id: string, sign: string, strong = false): ColourClass {
  return { id, sign, strong };
}
