// The film of a finished task, as a file that players open.
import type { Exchange } from '../kernel/exchange.ts'
import type { Platform } from '../kernel/platform.ts'
import { encodeFilm } from '../media/scene.ts'

const DAY_MS = 86_400_000

export interface FilmOrder {
  origin: string
  title: string
  prompt: string
  /** The short side and the ratio, such as 720 and `16:9`; other ratios are 16:9. */
  side: number
  ratio: string
  seconds: number
}

export const originOf = ({ request }: Exchange): string =>
  `http://${request.headers.host ?? '127.0.0.1'}`

/** Returns the address at which the film stays for a day. */
export function shelveFilm({ shelf }: Platform, order: FilmOrder): string {
  const { origin, title, prompt, side, seconds } = order
  const [across = 16, down = 9] = /^\d+:\d+$/.test(order.ratio)
    ? order.ratio.split(':').map(Number)
    : []
  const long = 2 * Math.round((side * Math.max(across, down)) / Math.min(across, down) / 2)
  const [width, height] = across >= down ? [long, side] : [side, long]
  const film = { title, prompt, width, height, frames: 24 * seconds, subtitle: true }
  const render = () => encodeFilm(film)
  return origin + shelf.put({ name: 'output.mp4', contentType: 'video/mp4', render }, DAY_MS)
}
