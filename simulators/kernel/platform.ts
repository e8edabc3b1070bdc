// What a vendor needs beyond the exchange at hand, when its work outlives the request.
import type { Book } from './book.ts'
import type { Timers } from './timers.ts'

export interface Platform {
  book: Book
  timers: Timers
  /** Multiplies every delay and every time to live. */
  timeScale: number
  /** Base URL of generated files; see `media/shelf.ts`. */
  shelf: Shelf
}

/** Files that a vendor offers under addresses that expire. */
export interface Shelf {
  /** The path of the file below the simulators' own address. */
  put: (file: ShelvedFile, lifeMs: number) => string
}

export interface ShelvedFile {
  name: string
  contentType: string
  render: () => Buffer
}
