/** Addresses of files that a vendor fetches for a request. */
import { isWebUrl } from '../file-data.ts'
import { InvalidRequest } from '../invalid-request.ts'

/** Files of the vendor's own store, which belong to the channel's account and not to a caller. */
const STORED = /^https?:\/\/[^/?#]{0,200}\.googleapis\.com\/(?:[^?#]{0,200}\/)?files\//i

/**
 * Throws for an address that the channel's credentials would open: a bucket, or a file that another
 * account has stored.
 */
export function checkFileAddress(address: string, param: string): void {
  if (isWebUrl(address) && !STORED.test(address)) return
  throw new InvalidRequest(param, 'must be an http(s) address that anyone can read, or data')
}
