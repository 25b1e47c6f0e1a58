/** What TensorBoard loads: it imports this module and calls `render`. */
export async function render(): Promise<void> {
  const { start } = await import('./app');
  start(document.body);
}
