/** Reads the usage of a response: tokens, tools run by the vendor, and images. */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import { type ChatUsageOptions, createChatUsageReader } from '../chat/read-usage.ts'
import { splitTokens, totalSides } from '../chat/split-tokens.ts'
import type { ModelPass } from '../relay.ts'
import { mergeUsage, readCount } from '../usage/read-count.ts'
import { toImageTokens, type UsageReading } from '../usage/usage-reading.ts'
import { createItemCounter } from './count-tools.ts'

export interface ResponseUsageReader {
  /** Reads a response object: a whole answer, or what an event of a stream carries. */
  readonly read: (response: JsonObject) => void
  /** Reads an item that is done, in a stream. */
  readonly readItem: (item: unknown, outputIndex: unknown) => void
  /** Reads an item that has only begun: its id. */
  readonly beginItem: (item: unknown) => void
  readonly reading: () => UsageReading
}

export function createResponseUsageReader(options: ChatUsageOptions = {}): ResponseUsageReader {
  const usage = createChatUsageReader(options)
  const items = createItemCounter()
  let images: unknown
  let imageModel: string | undefined
  let known: UsageReading | undefined
  return {
    read(response) {
      known = undefined
      usage.read(response)
      items.addOutput(response.output)
      images = mergeUsage(images, member(response.tool_usage, 'image_gen'), totalSides)
      imageModel = readImageModel(response.tools) ?? imageModel
    },
    readItem(item, outputIndex) {
      known = undefined
      items.add(item, outputIndex)
    },
    beginItem(item) {
      known = undefined
      items.begin(item)
    },
    reading() {
      known ??= build()
      return known
    },
  }

  function build(): UsageReading {
    usage.count(items.calls())
    const containers = items.containers()
    const itemIds = items.ids()
    const keptIds = containers.map(({ id }) => id)
    const reading = {
      ...withMinutes(usage.reading(), usage.raw(), items.namelessMinutes()),
      ...(containers.length > 0 ? { containers, keptIds } : {}),
      ...(itemIds.length > 0 ? { itemIds } : {}),
    }
    const model = imageModel ?? options.imageModel
    if (isObject(images) && model) {
      return { ...reading, passes: [readImagePass(images, model)] }
    }
    if (!isObject(images) && !items.hasImages()) return reading
    return {
      ...reading,
      unknownUsage: [...(reading.unknownUsage ?? []), 'output.image_generation_call'],
    }
  }
}

/**
 * Adds the minutes of a container that no item names, unless the vendor counts the runs themselves
 * (xAI), or all tools together.
 */
function withMinutes(reading: UsageReading, stated: unknown, minutes: number): UsageReading {
  const { usage = {} } = reading
  const areRunsCounted =
    usage.code_execution_call !== undefined ||
    readCount(member(stated, 'num_server_side_tools_used')) !== undefined
  if (minutes === 0 || areRunsCounted) return reading
  const container_minute = (usage.container_minute ?? 0) + minutes
  return { ...reading, usage: { ...usage, container_minute } }
}

/** Returns undefined if the tools name no model or several: the model used is then unknown. */
function readImageModel(tools: unknown): string | undefined {
  const list: readonly unknown[] = Array.isArray(tools) ? tools : []
  const imageTools = list.filter((one) => member(one, 'type') === 'image_generation')
  const models = new Set(imageTools.map((tool) => member(tool, 'model')))
  return models.size === 1 ? asString([...models][0]) : undefined
}

function readImagePass(usage: JsonObject, model: string): ModelPass {
  const tokens = toImageTokens(splitTokens(usage))
  return { model, role: 'image_generation', usage: tokens }
}
