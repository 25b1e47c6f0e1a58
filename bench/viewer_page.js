// Runs in the page that bench/viewer.py opens: does one thing as a person would, and measures until its picture stands.
(() => {
  const look = () => {
    const seen = globalThis.__tb_graph_ascend;
    if (seen && seen.snapshot().frame.frames > 0 && seen.snapshot().boxes.length > 0) globalThis.firstPicture = performance.now();
    else setTimeout(look, 5);
  };
  setTimeout(look, 5);

  const QUIET = 220; // milliseconds without change after which nothing more is expected
  const painted = () =>
    new Promise((done) =>
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done(performance.now()); // behind style, layout and paint of that frame
        port2.postMessage(0);
      }),
    );
  const frames = () => globalThis.__tb_graph_ascend.frameTimes.frames;

  /** first: to the next painted frame; shown: to the frame after which panel and graphs no longer change; blocked: longest stretch without a free main thread. */
  const measured = async (act) => {
    await painted();
    let last = -1;
    let blocked = 0;
    let ping = performance.now();
    let running = true;
    const begun = performance.now();
    const beat = () => {
      const now = performance.now();
      blocked = Math.max(blocked, now - ping);
      ping = now;
      if (running) setTimeout(beat, 0);
    };
    const changed = () => void painted().then((at) => (last = Math.max(last, at)));
    const observer = new MutationObserver((records) => {
      const seen = records.some(({ target }) => (target.nodeType === 1 ? target : target.parentElement)?.closest('aside.panel, .legend, .strip'));
      if (seen) changed();
    });
    observer.observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
    let drawn = frames();
    ping = begun;
    act();
    setTimeout(beat, 0);
    const first = await painted();
    last = first;
    while (performance.now() - last < QUIET) {
      const at = await painted();
      if (frames() !== drawn) {
        drawn = frames();
        last = Math.max(last, at);
      }
    }
    running = false;
    observer.disconnect();
    return { first: first - begun, shown: last - begun, blocked };
  };

  const button = (label) => [...document.querySelectorAll('button')].find((each) => each.getAttribute('aria-label') === label);
  const choose = (select, value) => {
    select.value = value;
    select.dispatchEvent(new Event('change', { bubbles: true }));
  };
  const item = (node, side = 'target') => document.getElementById(`${side}-${node}`);

  globalThis.bench = {
    type: (text) =>
      measured(() => {
        const box = document.querySelector('#search-box');
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, text);
        box.dispatchEvent(new Event('input', { bubbles: true }));
      }),
    press: (label) => measured(() => button(label).click()),
    click: ({ selector, index }) => measured(() => document.querySelectorAll(selector)[index].click()),
    key: (key) => measured(() => document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))),
    choose: ({ selector, index, value }) => measured(() => choose(document.querySelectorAll(selector)[index], value)),
    toggle: (node) => measured(() => item(node).dispatchEvent(new MouseEvent('dblclick', { bubbles: true }))),
    containers: () =>
      [...document.querySelectorAll('[role=tree]')[0].querySelectorAll('[role=treeitem][aria-expanded]')].map((each) => ({ node: Number(each.dataset.node), open: each.getAttribute('aria-expanded') === 'true' })),
    count: (selector) => document.querySelectorAll(selector).length,
    options: ({ selector, index }) => [...document.querySelectorAll(selector)[index].options].map((each) => each.value),
  };
})();
