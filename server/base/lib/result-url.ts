/** Reads the links that vendors state: what a page may open, and neither a script nor a file. */

/** Returns the http or https address of a result; undefined for anything else. */
export function readResultUrl(url: unknown): string | undefined {
  return typeof url === 'string' && /^https?:/i.test(url) && URL.canParse(url) ? url : undefined
}

/** Returns the address of an image, which may be the image itself; undefined for anything else. */
export function readImageUrl(url: unknown): string | undefined {
  return typeof url === 'string' && /^data:image\//i.test(url) ? url : readResultUrl(url)
}
