/**
 * Reads the usage in the end events of several images: OpenAI states it per image, other vendors
 * may state it for all images so far.
 */
import { isObject, type JsonObject } from '../../../base/lib/json.ts'
import { totalSides } from '../chat/split-tokens.ts'
import { addUsage, mergeUsage } from '../usage/read-count.ts'
import { totalCost } from '../usage/stated-cost.ts'
import { readGenerated } from './read-answer.ts'

/**
 * The smallest fraction of the first image's tokens that a further image takes: images of one
 * request differ only in size, by up to half as much again.
 */
const NEXT_IMAGE = 0.6
/** Tokens that OpenAI bills for each preview, with its image. */
const PREVIEW_TOKENS = 100

/** Tokens of an image's end event, and the previews before it. */
interface Stated {
  readonly input: number
  readonly output: number
  readonly previews: number
}

export class SeveralUsages {
  private added: JsonObject | undefined
  private merged: JsonObject | undefined
  /** The tokens of the first image without its previews. */
  private first: number | undefined
  private last: Stated | undefined
  private previews = 0
  /** True while each image has stated more than the one before, by as much as an image takes. */
  private isRunningTotal = true

  /** Counts a preview for the image that follows. */
  addPreview(): void {
    this.previews += 1
  }

  /** Adds the usage of an image's own end event. */
  addOwn(usage: JsonObject): void {
    const { previews, last } = this
    const [input = 0, tokens = 0] = totalSides(usage)
    // Without tokens, the costs show whether the usage is a total or that of each image.
    const output = tokens || totalCost(usage)
    const stated = { input, output, previews }
    if (last) this.isRunningTotal &&= goesOn(this.first ?? 0, last, stated)
    const rest = output - PREVIEW_TOKENS * previews
    this.first ??= rest > 0 ? rest : output
    this.last = stated
    this.previews = 0
    this.added = asUsage(addUsage(this.added, usage))
    this.merged = asUsage(mergeUsage(this.merged, usage, readTotals))
  }

  /** Sets the usage of all images so far. */
  addTotal(usage: JsonObject): void {
    this.added = asUsage(mergeUsage(this.added, usage, readTotals))
    this.merged = asUsage(mergeUsage(this.merged, usage, readTotals))
  }

  /** Returns the usage of all images; undefined if none is stated. */
  read(): JsonObject | undefined {
    return this.isRunningTotal ? this.merged : this.added
  }
}

/** Returns true if the usage of an image includes that of the previous one. */
function goesOn(first: number, last: Stated, { input, output, previews }: Stated): boolean {
  const more = NEXT_IMAGE * first + PREVIEW_TOKENS * Math.max(0, previews - last.previews)
  return first > 0 && input >= last.input && output >= last.output + more
}

function asUsage(merged: unknown): JsonObject | undefined {
  return isObject(merged) ? merged : undefined
}

function readTotals(usage: JsonObject): readonly number[] {
  return [...totalSides(usage), readGenerated({ usage }) ?? 0, totalCost(usage)]
}
