/** Addresses of files that a vendor fetches for a request. */
import { isWebUrl } from '../file-data.ts'

/** Files of the vendor's own store, which belong to the channel's account and not to a caller. */
const STORED = /^https?:\/\/[^/?#]{0,200}\.googleapis\.com\/(?:[^?#]{0,200}\/)?files\//i

export const ADDRESS_ADVICE = 'must be an http(s) address that anyone can read, or data'

/**
 * Returns false for an address that the channel's credentials would open: a bucket, or a file that
 * another account has stored.
 */
export function isOpenAddress(address: string): boolean {
  return isWebUrl(address) && !STORED.test(address)
}

const VIDEO_SITE = /^https?:\/\/(?:[a-z]{1,10}\.)?(?:youtube\.com|youtu\.be)\//i

/** Returns true for an address that the vendor reads as a video, whatever media type is stated. */
export function isVideoSite(address: string): boolean {
  return VIDEO_SITE.test(address)
}
