/** Counts hosted tools by the items of a response (docs/protocols/openai.md#hosted-tools). */
import { asString, isObject, type JsonObject, member } from '../../../base/lib/json.ts'
import type { Quantities, Unit } from '../../../base/lib/units.ts'
import type { ContainerUse } from '../relay.ts'
import { largerOfEach, type Tally, tally } from '../usage/usage-reading.ts'

/** Minutes of a container's session, the unit in which it is billed. */
const SESSION_MINUTES = 20
/** The most containers that are named; further ones are still counted. */
const LISTED_MAX = 100

/** Item types that represent one call each. */
const CALLS: ReadonlyMap<unknown, Unit> = new Map([
  ['file_search_call', 'file_search_call'],
  ['document_search_call', 'file_search_call'],
  ['collections_search_call', 'file_search_call'],
  ['x_search_call', 'web_search_call'],
  ['web_fetch_call', 'web_fetch_call'],
])

/** Far more items than any answer has. */
const ITEMS_MAX = 1_000

/** Counts the items of one response, each once even where events repeat it. */
export interface ItemCounter {
  /** Adds an item. `key`, its place in the output, tells items without an id apart. */
  readonly add: (item: unknown, key: unknown) => void
  /** Adds the whole output, whose counts are compared with those of the single items. */
  readonly addOutput: (output: unknown) => void
  readonly calls: () => Quantities
  /** The containers that `calls` counts. */
  readonly containers: () => readonly ContainerUse[]
  /** Minutes of code whose item names no container, which `calls` leaves out. */
  readonly namelessMinutes: () => number
  /** True if a hosted image model was used, whose usage is stated separately. */
  readonly hasImages: () => boolean
  /** Notes an item that has only begun, for its id. */
  readonly begin: (item: unknown) => void
  /** The ids of all items. */
  readonly ids: () => readonly string[]
}

export function createItemCounter(): ItemCounter {
  const single = new CountedItems()
  let whole = new CountedItems()
  const ids = new Set<string>()
  const noteId = (item: unknown) => {
    const id = member(item, 'id')
    if (typeof id === 'string' && ids.size < ITEMS_MAX) ids.add(id)
  }
  return {
    add(item, key) {
      noteId(item)
      single.add(item, key)
    },
    addOutput(output) {
      if (!Array.isArray(output)) return
      const counted = new CountedItems()
      for (const [index, item] of output.entries()) {
        noteId(item)
        counted.add(item, index)
      }
      counted.hasImages ||= whole.hasImages
      whole = counted
    },
    calls: () => largerOfEach(whole.calls(), single.calls()),
    containers() {
      const containers = single.containers()
      return containers.length > whole.containers().length ? containers : whole.containers()
    },
    namelessMinutes: () => (single.isNameless() || whole.isNameless() ? SESSION_MINUTES : 0),
    hasImages: () => single.hasImages || whole.hasImages,
    begin: noteId,
    ids: () => [...ids],
  }
}

/** Counts each item as it comes, since every reading of a stream asks for the sums. */
class CountedItems {
  /** The count of each item, by its id or place: a later state of it replaces the earlier. */
  private readonly parts = new Map<unknown, ItemPart>()
  private readonly units: Tally = {}
  /** The number of items that name each container. */
  private readonly names = new Map<string, number>()
  hasImages = false

  add(item: unknown, key: unknown): void {
    if (!isObject(item)) return
    this.hasImages ||= item.type === 'image_generation_call'
    const name = asString(item.id) ?? key
    const earlier = this.parts.get(name)
    if (earlier) this.count(earlier, -1)
    const part = readPart(item)
    this.parts.set(name, part)
    this.count(part, 1)
  }

  calls(): Quantities {
    const calls: Tally = {}
    for (const [unit, count] of Object.entries(this.units)) tally(calls, unit as Unit, count)
    const named = this.names.size - (this.isNameless() ? 1 : 0)
    tally(calls, 'container_minute', named * SESSION_MINUTES)
    return calls
  }

  isNameless(): boolean {
    return this.names.has(NAMELESS)
  }

  containers(): readonly ContainerUse[] {
    const listed: ContainerUse[] = []
    for (const id of this.names.keys()) {
      if (id !== NAMELESS) listed.push({ id, minutes: SESSION_MINUTES })
      if (listed.length === LISTED_MAX) break
    }
    return listed
  }

  private count({ units, containers }: ItemPart, by: 1 | -1): void {
    for (const unit of units) this.units[unit] = (this.units[unit] ?? 0) + by
    for (const name of containers) {
      const count = (this.names.get(name) ?? 0) + by
      if (count > 0) this.names.set(name, count)
      else this.names.delete(name)
    }
  }
}

interface ItemPart {
  readonly units: readonly Unit[]
  readonly containers: readonly string[]
}

/** Represents the container of items that do not name one. */
const NAMELESS = ''

function readPart(item: JsonObject): ItemPart {
  const unit = CALLS.get(item.type)
  const search = isBilledSearch(item) ? (['web_search_call'] as const) : []
  const code =
    item.type === 'code_interpreter_call' ? [asString(item.container_id) ?? NAMELESS] : []
  const shell = item.type === 'shell_call' && asString(member(item.environment, 'container_id'))
  // A shell on the caller's side has no container.
  return {
    units: [...(unit ? [unit] : []), ...search],
    containers: [...code, ...(shell ? [shell] : [])],
  }
}

function isBilledSearch({ type, action, status }: JsonObject): boolean {
  if (type !== 'web_search_call' || status === 'failed') return false
  const kind = member(action, 'type')
  return kind === undefined || kind === 'search'
}
