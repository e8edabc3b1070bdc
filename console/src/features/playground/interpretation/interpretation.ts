/** Interpretation: speech into another language, as text or as speech. */

import type { Capability, ResultReading } from '../frame/capability.ts'
import { dropEmpty } from '../frame/order.ts'
import { InterpretationFields } from './fields.tsx'
import { InterpretationOutput } from './interpretation-output.tsx'
import type { InterpretationResult, InterpretationValues } from './values.ts'

const NOTHING: InterpretationResult = {
  sourceText: '',
  text: '',
  bytes: 0,
  firstMs: undefined,
  sound: undefined,
}

async function readSpeech(
  response: Response,
  { startedAt, show }: ResultReading<InterpretationResult>,
): Promise<InterpretationResult> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  let result = NOTHING
  for await (const part of response.body ?? []) {
    parts.push(part)
    const firstMs = result.firstMs ?? performance.now() - startedAt
    result = { ...result, bytes: result.bytes + part.length, firstMs }
    show(result)
  }
  return { ...result, sound: new Blob(parts, { type: 'audio/ogg' }) }
}

export const interpretation: Capability<InterpretationValues, InterpretationResult> = {
  initial: { file: undefined, mode: 's2t', source: '', target: '', voice: '' },
  toOrder: ({ id: model }, { file, mode, source, target, voice }) => {
    if (!file) return undefined
    const languages = { source_language: source, target_language: target }
    const spoken = mode === 's2s' ? { voice } : {}
    return {
      path: '/v1/audio/translations',
      body: dropEmpty({ model, mode, ...languages, ...spoken }),
      file,
    }
  },
  read: async (response, reading, { body }) => {
    if (body.mode === 's2s') return readSpeech(response, reading)
    const { text, source_text: sourceText } = (await response.json()) as Readonly<
      Record<string, string>
    >
    return { ...NOTHING, text: text ?? '', sourceText: sourceText ?? '' }
  },
  Fields: InterpretationFields,
  Result: InterpretationOutput,
}
