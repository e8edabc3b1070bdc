/**
 * The sign-in page of index.html, which is seen until the console's own has been drawn. The gateway
 * leaves it out of the page for those who are signed in.
 */

/** Anything that a person can read or use; a spinner is not worth the change. */
const DRAWN = 'main, h1, h2, [role="alert"]'

/** Removes it once `root` has something to show: before the same paint, so nothing flashes. */
export function dropEarlySignIn(root: HTMLElement): void {
  const early = document.getElementById('early-sign-in')
  if (!early) return
  const observer = new MutationObserver(() => {
    if (!root.querySelector(DRAWN)) return
    observer.disconnect()
    early.remove()
  })
  observer.observe(root, { childList: true, subtree: true })
}
