/**
 * Inspects a recording whose model may be named after it: the whole file, as transcription models
 * take it, and its samples, as interpretation does.
 */

import type { ReadRange } from '../../../base/lib/media/open-window.ts'
import { createWavReader, type Samples } from '../../../wire/dialects/interpretation/read-wav.ts'
import { InvalidRequest } from '../../../wire/dialects/invalid-request.ts'
import {
  type AudioMeasurement,
  createAudioMeter,
} from '../../../wire/dialects/transcription/measure-audio.ts'

export interface EitherRecording extends AudioMeasurement {
  /** The samples, or the reason why the file cannot be interpreted. */
  readonly other: Samples | InvalidRequest
}

export function createEitherReader(param: string, secondsMax: number) {
  const meter = createAudioMeter()
  const reader = createWavReader(param, secondsMax)
  let fault: InvalidRequest | undefined
  /** Keeps the first fault, which matters for interpretation alone. */
  function keepFault<T>(read: () => T): T | undefined {
    try {
      return fault ? undefined : read()
    } catch (error) {
      if (!(error instanceof InvalidRequest)) throw error
      fault = error
      return undefined
    }
  }
  return {
    push(chunk: Buffer): void {
      meter.push(chunk)
      keepFault(() => reader.push(chunk))
    },
    async end(read: ReadRange): Promise<EitherRecording> {
      const samples = keepFault(() => reader.end())
      const other = samples ?? fault ?? new InvalidRequest(param, 'has no audio in it')
      return { ...(await meter.end(read)), other }
    },
  }
}
