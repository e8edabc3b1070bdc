/** The nonce of this page's style elements, which dialog libraries add to the head. */

declare global {
  // The global name that style libraries read.
  var __webpack_nonce__: string | undefined
}

const nonce = document.querySelector<HTMLElement>('meta[property="csp-nonce"]')?.nonce ?? ''
globalThis.__webpack_nonce__ = nonce

export function styleNonce(): string {
  return nonce
}
