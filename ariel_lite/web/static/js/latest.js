// Requests of which only the latest counts: a new one aborts the one it overtakes.

export class Latest {
  #controller = null;

  /** A signal for a new piece of work; the previous one is aborted. */
  next() {
    this.stop();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  stop() {
    this.#controller?.abort();
    this.#controller = null;
  }
}
