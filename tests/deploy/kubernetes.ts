/** Checks resources against the types of the Kubernetes API, unknown members included. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const FOLDER = join(ROOT, 'node_modules', '.cache', 'kubernetes')
/** Custom resources, whose types are with the programs that define them. */
const CUSTOM: ReadonlySet<unknown> = new Set(['PodMonitor'])

export interface Resource {
  readonly apiVersion?: string
  readonly kind?: string
  readonly [member: string]: unknown
}

interface Document {
  readonly errors: readonly unknown[]
  toJS(): unknown
}

/** The parser that the validator of the OpenAPI document brings. */
const validator = createRequire(import.meta.url).resolve('@seriousme/openapi-schema-validator')
const { parseAllDocuments } = createRequire(validator)('yaml') as {
  parseAllDocuments(text: string, options: object): readonly Document[]
}

/** Returns the resources of a YAML file. Throws for what is not YAML. */
export function readResources(text: string): Resource[] {
  return parseAllDocuments(text, { uniqueKeys: true, strict: true }).flatMap((one) => {
    if (one.errors.length > 0) throw new Error(one.errors.join('\n'))
    const value = one.toJS()
    return value ? [value as Resource] : []
  })
}

/** Returns what the API server would refuse or ignore; empty if all is known to it. */
export function checkResources(resources: readonly Resource[]): string {
  const lines = resources.flatMap((resource, index) => {
    const { apiVersion = '', kind = '' } = resource
    if (CUSTOM.has(kind)) return []
    const type = `import('kubernetes-models/${apiVersion}/${kind}').I${kind}`
    return `export const r${index}: ${type} = ${JSON.stringify(resource, null, 2)}`
  })
  const file = join(FOLDER, `resources-${process.pid}.ts`)
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(file, lines.join('\n'))
  const options =
    '--noEmit --strict --skipLibCheck --ignoreConfig --module nodenext --target es2023'
  try {
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    execFileSync(process.execPath, [tsc, ...options.split(' '), file], { encoding: 'utf8' })
    return ''
  } catch (error) {
    return String((error as { stdout?: string }).stdout)
  } finally {
    rmSync(file, { force: true })
  }
}
