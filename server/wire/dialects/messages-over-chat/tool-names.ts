/**
 * Maps tool names: chat upstreams accept function names of 64 characters from a small alphabet, but
 * MCP servers use longer ones of the messages format. A name that does not fit gets an alias in the
 * request, and its own name again in the answer.
 */
import { pseudonym } from '../../../base/lib/text/pseudonym.ts'

export interface ToolNames {
  readonly toChat: (name: string) => string
  /** The caller's name of a function that the model called. */
  readonly fromChat: (name: string) => string
}

const FITTING = /^[A-Za-z0-9_-]{1,64}$/
const STEM_LENGTH = 55
const MARK_LENGTH = 8

/** The alias depends only on the name, so that the prompt stays the same over all turns. */
export function createToolNames(): ToolNames {
  const aliases = new Map<string, string>()
  return {
    toChat(name) {
      if (FITTING.test(name)) return name
      const stem = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, STEM_LENGTH)
      const alias = `${stem}_${pseudonym(name, MARK_LENGTH)}`
      aliases.set(alias, name)
      return alias
    },
    fromChat: (name) => aliases.get(name) ?? name,
  }
}
