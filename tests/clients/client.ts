/**
 * What every client under test must be able to do, whatever package it is. The cases in cases.ts
 * know nothing of packages; the packages know nothing of money.
 */

/** Where a client is pointed at: the gateway, with a key of an account. */
export interface Place {
  readonly url: string
  readonly key: string
}

export interface Question {
  readonly model: string
  readonly words: string
  readonly stream: boolean
  /** Sends a picture beside the words. */
  readonly withImage?: boolean
}

export interface Client {
  readonly name: string
  readonly models: readonly string[]
  /** True for a package that returns partial output without an error when a stream fails. */
  readonly hidesBrokenStreams?: boolean
  /** Asks, and gives the text of the answer. Rejects as the package does. */
  ask(place: Place, question: Question): Promise<string>
  /** Asks with the tool `weather`, answers its call, and gives the text of the last answer. */
  useTool(place: Place, question: Question): Promise<string>
}

export const WEATHER = 'weather'

export const WEATHER_SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
} as const

/** The tool itself. Throws when its arguments did not come through whole. */
export function tellWeather(input: unknown): string {
  if (typeof input !== 'object' || input === null || !('city' in input)) {
    throw new Error(`the tool was called with ${JSON.stringify(input)}`)
  }
  return `sunny in ${input.city}`
}

/** A picture of one pixel. */
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
export const PICTURE_URL = `data:image/png;base64,${PICTURE}`
