// The services of a vendor whose work outlives the request.
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

/** Files that a vendor offers at URLs that expire. */
export interface Shelf {
  /** Returns the path of the file below the simulators' base URL. */
  put: (file: ShelvedFile, lifeMs: number) => string
}

export interface ShelvedFile {
  name: string
  contentType: string
  render: () => Buffer
}
