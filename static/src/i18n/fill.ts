/** `{name}` in a text is replaced by the argument of that name. */
export function fill(template: string, parameters: Readonly<Record<string, string | number>> = {}): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => (Object.hasOwn(parameters, name) ? String(parameters[name]) : whole));
}
