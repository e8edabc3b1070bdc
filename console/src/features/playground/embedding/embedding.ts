/** Embeddings: lines of text as vectors, and their similarity. */

import type { Capability } from '../frame/capability.ts'
import { dropEmpty, numberOf } from '../frame/order.ts'
import { EmbeddingFields } from './fields.tsx'
import type { EmbeddingResult, EmbeddingValues } from './values.ts'
import { Vectors } from './vectors.tsx'

interface Answer {
  readonly data: readonly { readonly embedding: readonly number[] }[]
  readonly usage?: { readonly total_tokens?: number }
}

export function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)
}

export const embedding: Capability<EmbeddingValues, EmbeddingResult> = {
  initial: { text: '', dimensions: '' },
  samples: {
    text: [
      'a river at dawn\na stream in the morning\na spreadsheet',
      '黎明的江面\n清晨的小溪\n一张电子表格',
    ],
  },
  toOrder: (model, { text, dimensions }) => {
    const input = linesOf(text)
    if (input.length === 0) return undefined
    return {
      path: '/v1/embeddings',
      body: dropEmpty({ model: model.id, input, dimensions: numberOf(dimensions) }),
    }
  },
  read: async (response, _reading, { body }) => {
    const { data, usage }: Answer = await response.json()
    const lines = Array.isArray(body.input) ? body.input.map(String) : []
    const vectors = data.map(({ embedding: vector }) => vector)
    return { lines, vectors, tokens: usage?.total_tokens ?? 0 }
  },
  Fields: EmbeddingFields,
  Result: Vectors,
}
