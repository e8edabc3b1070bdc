/**
 * A container as Kubernetes would start it with the chart's security context: the image's user, a
 * read-only root, no capabilities, no new privileges, and the engines' own list of system calls.
 * runc starts it from a configuration that sets no resource limits, which some machines refuse.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningProcess, startProcess } from '../../tests/support/processes.ts'
import type { Image } from './build.ts'

/** The default list of Podman and CRI-O, in Debian's golang-github-containers-common. */
const SYSTEM_CALLS = '/usr/share/containers/seccomp.json'

const execute = promisify(execFile)

export interface Container extends RunningProcess {
  /** Runs a command in it. Returns its exit code and output. */
  exec(command: readonly string[]): Promise<{ readonly code: number; readonly output: string }>
  /** Sends the image's stop signal as an engine does. */
  stopInOrder(): Promise<void>
}

interface Start {
  readonly image: Image
  readonly name: string
  /** For the configuration and the container's data. */
  readonly folder: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Folders of this machine that it sees at the same place. */
  readonly shared: readonly string[]
}

export async function startContainer(start: Start): Promise<Container> {
  const { image, name, folder } = start
  const [uid = 0, gid = 0] = image.config.User.split(':').map(Number)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'config.json'), JSON.stringify(configure(start, { uid, gid })))
  const child = await startProcess(['runc', 'run', '--bundle', folder, name])
  return {
    ...child,
    exec: (command) =>
      execute('runc', ['exec', name, ...command]).then(
        ({ stdout, stderr }) => ({ code: 0, output: stdout + stderr }),
        ({ code, stdout, stderr }) => ({ code, output: stdout + stderr }),
      ),
    async stopInOrder() {
      await execute('runc', ['kill', name, 'TERM'])
    },
  }
}

function configure(
  { image: { config, root }, args, env, shared }: Start,
  { uid, gid }: { readonly uid: number; readonly gid: number },
) {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const owned = [`uid=${uid}`, `gid=${gid}`, 'mode=700']
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...config.Entrypoint, ...(args.length > 0 ? args : config.Cmd)],
      env: [...config.Env, ...variables],
      cwd: config.WorkingDir,
      capabilities: { bounding: [], effective: [], permitted: [], inheritable: [], ambient: [] },
      noNewPrivileges: true,
    },
    root: { path: root, readonly: true },
    hostname: 'tributary',
    mounts: [
      { destination: '/proc', type: 'proc', source: 'proc' },
      mountMemory('/dev', ['nosuid', 'mode=755']),
      mountMemory('/tmp', ['nosuid', 'nodev', 'noexec', 'mode=1777']),
      mountMemory('/data', ['nosuid', 'nodev', 'noexec', ...owned]),
      ...shared.map((path) => ({
        destination: path,
        type: 'bind',
        source: path,
        options: ['bind', 'ro'],
      })),
    ],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/sched_debug'],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
      seccomp: existsSync(SYSTEM_CALLS) ? readSystemCalls() : undefined,
    },
  }
}

function mountMemory(destination: string, options: readonly string[]) {
  return { destination, type: 'tmpfs', source: 'tmpfs', options }
}

interface Rule {
  readonly names: readonly string[]
  readonly action: string
  readonly errnoRet?: number
  readonly args?: readonly object[] | null
  readonly includes?: { readonly caps?: readonly string[]; readonly arches?: readonly string[] }
  readonly excludes?: { readonly caps?: readonly string[]; readonly arches?: readonly string[] }
}

/** The list for a container without capabilities on this processor, in the form of runc. */
function readSystemCalls() {
  const list = JSON.parse(readFileSync(SYSTEM_CALLS, 'utf8'))
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const applies = ({ includes = {}, excludes = {} }: Rule) =>
    !includes.caps?.length &&
    (!includes.arches?.length || includes.arches.includes(arch)) &&
    !excludes.arches?.includes(arch)
  const rules: readonly Rule[] = list.syscalls
  return {
    defaultAction: list.defaultAction,
    defaultErrnoRet: list.defaultErrnoRet,
    architectures: [process.arch === 'x64' ? 'SCMP_ARCH_X86_64' : 'SCMP_ARCH_AARCH64'],
    syscalls: rules.filter(applies).map(({ names, action, errnoRet, args }) => ({
      names,
      action,
      errnoRet,
      args: args ?? [],
    })),
  }
}
