/** The command line of a benchmark or a proof. */
import { readFileSync } from 'node:fs'
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** `--postgres`: embedded, debian, a folder of programs, or the URL of a server. */
export const POSTGRES_OPTION = { type: 'string', default: 'embedded' } as const

/**
 * Reads the options of a script. `--help` prints its own description and the defaults; a wrong
 * option ends it with 2 and one line.
 */
export function readOptions<const Options extends ParseArgsOptionsConfig>(
  script: string,
  options: Options,
): ReturnType<typeof parseArgs<{ options: Options }>>['values'] {
  if (process.argv.includes('--help')) {
    console.log(describe(script, options))
    process.exit(0)
  }
  try {
    return parseArgs({ options }).values
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exit(2)
  }
}

/** Returns the first comment of the script, and its options with their defaults. */
function describe(script: string, options: ParseArgsOptionsConfig): string {
  const [, comment = ''] = /^\/\*\*(.*?)\*\//s.exec(readFileSync(script, 'utf8')) ?? []
  const text = comment.replace(/^\s*\* ?/gm, '').trim()
  const lines = Object.entries(options).map(([name, { default: value }]) => {
    return `  --${name}${value === undefined ? '' : ` (${value})`}`
  })
  return [text, '', 'Options, with their defaults:', ...lines].join('\n')
}
