/** `{name}` in a text is replaced by the argument of that name, `{name|call|calls}` by one of the two words: the first where it is 1. */
export function fill(template: string, parameters: Readonly<Record<string, string | number>> = {}): string {
  return template.replace(/\{(\w+)(?:\|([^{}|]*)\|([^{}|]*))?\}/g, (whole, name: string, one?: string, many?: string) => {
    if (!Object.hasOwn(parameters, name)) return whole;
    const text = String(parameters[name]);
    return one === undefined || many === undefined ? text : text === '1' ? one : many;
  });
}
