/** A copy of this checkout that runs as the Compose project of its guide. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { run } from './stand-ins.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const PROJECT = 'tributary-proof'
const execute = promisify(execFile)

export interface Project {
  readonly folder: string
  /** The network of its services. */
  readonly network: string
  /** The images that its files name, except the gateway's own. */
  readonly images: readonly string[]
  /** Runs `docker compose` on it. */
  compose(...words: readonly string[]): Promise<string>
  /** Runs `docker compose run --rm gateway-1` with a command of `tributary`. */
  tributary(...words: readonly string[]): Promise<string>
  /** The id of the container that runs a service. */
  find(service: string): Promise<string>
}

/** Copies the files of the checkout to a folder, and fills in the settings as the guide says. */
export async function createProject(parent: string): Promise<Project> {
  const folder = join(parent, 'checkout')
  mkdirSync(folder)
  await run('sh', '-c', `cd '${ROOT}' && git ls-files -z | xargs -0 cp --parents -t '${folder}'`)
  const example = readFileSync(join(folder, 'deploy', 'compose.env.example'), 'utf8')
  const secret = () => randomBytes(32).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
  writeFileSync(
    join(folder, '.env'),
    example.replace(/=$/gm, () => `=${secret()}`),
  )
  const upstreams = 'SIMULATORS_URL=http://simulators:9100\nALLOW_PRIVATE_TARGETS=true\n'
  writeFileSync(join(folder, 'upstreams.env'), upstreams)
  const text = readFileSync(join(folder, 'compose.yaml'), 'utf8')
  // The first version of Compose, which Debian has, takes the name of the project as an argument.
  writeFileSync(join(folder, 'compose.yaml'), text.replace(/^name: .*$/m, ''))
  const program = await findCompose()

  async function compose(...words: readonly string[]): Promise<string> {
    const [file = '', ...more] = [...program, '--project-name', PROJECT, ...words]
    const { stdout } = await execute(file, more, { cwd: folder })
    return stdout.trim()
  }

  return {
    folder,
    network: `${PROJECT}_default`,
    images: listImages(readFileSync(join(folder, 'Dockerfile'), 'utf8'), text),
    compose,
    tributary: (...words) => compose('run', '--rm', 'gateway-1', ...words),
    find: (service) => compose('ps', '--quiet', service),
  }
}

async function findCompose(): Promise<readonly string[]> {
  const version = run('docker', 'compose', 'version')
  return await version.then(
    () => ['docker', 'compose'],
    () => ['docker-compose'],
  )
}

function listImages(dockerfile: string, compose: string): string[] {
  const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name = '']) => name)
  const services = [...compose.matchAll(/^ {4}image: (\S+)$/gm)].map(([, name = '']) => name)
  return [...bases, ...services]
}
