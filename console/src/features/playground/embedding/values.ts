/** The fields of the form, and what depends on them alone. */

export interface EmbeddingValues {
  readonly text: string
  readonly dimensions: number | string
}

export interface EmbeddingResult {
  readonly lines: readonly string[]
  readonly vectors: readonly (readonly number[])[]
  readonly tokens: number
}
