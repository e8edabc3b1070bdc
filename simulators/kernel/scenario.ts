// A scenario: the faults of one request and their parameters. Unknown names are refused, because a
// fault that is silently not played makes a test pass for the wrong reason.

export interface ScenarioName {
  name: string
  takes: 'nothing' | 'number' | 'text'
  description: string
}

/** Returns the oddities of a table as flags. */
export function oddityNames(table: Record<string, { description: string }>): ScenarioName[] {
  return Object.entries(table).map(([name, { description }]) => ({
    name,
    takes: 'nothing',
    description,
  }))
}

export class ScenarioError extends Error {}

export class Scenario {
  private readonly values: Map<string, string>

  constructor(values: Map<string, string> = new Map()) {
    this.values = values
  }

  get empty(): boolean {
    return this.values.size === 0
  }

  has(name: string): boolean {
    return this.values.has(name)
  }

  text(name: string): string | undefined {
    const value = this.values.get(name)
    return value === '' ? undefined : value
  }

  number(name: string): number | undefined {
    const value = this.values.get(name)
    return value === undefined || value === '' ? undefined : Number(value)
  }

  /** Returns the position parameter that all faults between two events share. */
  position(name: string, otherwise: number): number {
    return this.number(name) ?? this.number('at') ?? otherwise
  }

  names(): string[] {
    return [...this.values.keys()]
  }
}

export const NO_SCENARIO = new Scenario()

export type Source = string | Record<string, unknown>

/** The call that a scenario is read for; `NOBODY` if it is only checked. */
export interface Asker {
  vendor: string
  marker: string
}

const NOBODY: Asker = { vendor: '', marker: '' }
const MOST_COUNTED = 100_000

export class ScenarioReader {
  private readonly played = new Map<string, number>()
  private readonly known: Map<string, ScenarioName>

  constructor(names: ScenarioName[]) {
    this.known = new Map(names.map((entry) => [entry.name, entry]))
  }

  /** Merges several sources; a later source overrides an earlier one. */
  read(sources: Source[], asker: Asker = NOBODY): Scenario {
    const values = new Map<string, string>()
    for (const source of sources) {
      const one = new Map<string, string>()
      for (const [name, value] of pairs(source)) this.add(one, name, value)
      if (!this.applies(one, asker)) continue
      for (const [name, value] of one) values.set(name, value)
    }
    return new Scenario(values)
  }

  /** Resets the counters of scenarios with `times`. */
  forget(): void {
    this.played.clear()
  }

  private applies(values: Map<string, string>, asker: Asker): boolean {
    const only = values.get('only')
    if (only !== undefined && asker.vendor !== '' && only !== asker.vendor) return false
    const times = values.get('times')
    if (times === undefined || asker.vendor === '') return true
    const key = `${asker.vendor} ${asker.marker} ${[...values].join(';')}`
    const played = (this.played.get(key) ?? 0) + 1
    if (this.played.size >= MOST_COUNTED) this.played.clear()
    this.played.set(key, played)
    return played <= Number(times)
  }

  private add(values: Map<string, string>, written: string, value: string): void {
    const name = this.resolve(written)
    const entry = this.known.get(name)
    if (!entry) throw new ScenarioError(`simulator: unknown scenario "${written}"; see GET /sim`)
    if (entry.takes === 'number' && value !== '' && !Number.isFinite(Number(value))) {
      throw new ScenarioError(`simulator: scenario "${name}" takes a number, not "${value}"`)
    }
    if (value === 'false') values.delete(name)
    else values.set(name, value === 'true' ? '' : value)
  }

  /** Normalises a name: `delay_head`, `delayHead` and `delay-head` are one; `c_crlf` is `crlf`. */
  private resolve(written: string): string {
    if (this.known.has(written)) return written
    const kebab = written.replace(/[A-Z]/g, (letter) => `-${letter}`).toLowerCase()
    const dashed = kebab.replaceAll('_', '-')
    if (this.known.has(dashed)) return dashed
    const bare = dashed.replace(/^[csr]-/, '')
    return this.known.has(bare) ? bare : written
  }
}

function pairs(source: Source): [string, string][] {
  if (typeof source !== 'string') {
    return Object.entries(source).map(([name, value]) => [name, String(value)])
  }
  const text = source.trim()
  if (text.startsWith('{')) {
    try {
      return pairs(JSON.parse(text))
    } catch {
      throw new ScenarioError('simulator: the scenario is not valid JSON')
    }
  }
  return text
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const equals = part.indexOf('=')
      if (equals < 0) return [part, '']
      return [part.slice(0, equals).trim(), part.slice(equals + 1).trim()]
    })
}
