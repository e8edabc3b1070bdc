/** The nonce with which this page may add styles: libraries of dialogs put them into the head. */

declare global {
  // The name under which style libraries look for it.
  var __webpack_nonce__: string | undefined
}

const nonce = document.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? ''
globalThis.__webpack_nonce__ = nonce

export function styleNonce(): string {
  return nonce
}
