// Calculates the tokens of a video: frames times pixels, with a minimum for video input.
import type { VideoOrder } from './video-request.ts'

const FRAMES_PER_SECOND = 24
const PIXELS_PER_TOKEN = 1024

/** `inputSeconds` is the length of all referenced videos together. */
export function tokensOfVideo(order: VideoOrder, inputSeconds: number): number {
  const { width, height, frames, seconds = frames / FRAMES_PER_SECOND } = order
  const pixels = width * height
  const tokens = Math.floor(
    ((frames + inputSeconds * FRAMES_PER_SECOND) * pixels) / PIXELS_PER_TOKEN,
  )
  if (order.content.videos > 0) {
    const least = Math.ceil((5 * seconds) / 3) * pixels * FRAMES_PER_SECOND
    return Math.max(tokens, Math.floor(least / PIXELS_PER_TOKEN))
  }
  if (!order.draft) return tokens
  return Math.floor(tokens * (order.sound ? 0.6 : 0.7))
}
