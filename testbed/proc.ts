/** Linux's figures of a process and its children: processor time, memory, current core. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

const TICKS_PER_SECOND = 100

function readStat(pid: number): { readonly parent: number; readonly seconds: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = Number(fields[11]) + Number(fields[12])
    const isSingle = fields[17] === '1'
    const seconds = (isSingle ? readScheduled(pid) : undefined) ?? ticks / TICKS_PER_SECOND
    const endedTicks = Number(fields[13]) + Number(fields[14])
    return { parent: Number(fields[1]), seconds: seconds + endedTicks / TICKS_PER_SECOND }
  } catch {
    return undefined
  }
}

/**
 * Returns the seconds of a process with one thread by the scheduler, if the kernel tells them: a
 * tick is 10 ms, a seventh of what a round of a benchmark may take.
 */
function readScheduled(pid: number): number | undefined {
  try {
    const nanoseconds = Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0])
    // A kernel that does not count them says 0.
    return nanoseconds > 0 ? nanoseconds / 1e9 : undefined
  } catch {
    return undefined
  }
}

/** Returns the process and all its descendants. */
function treeOf(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc')) {
    const found = /^\d+$/.test(name) ? readStat(Number(name)) : undefined
    if (found) parents.set(Number(name), found.parent)
  }
  const tree = [pid]
  for (const member of tree) {
    for (const [child, parent] of parents) if (parent === member) tree.push(child)
  }
  return tree
}

/** Returns user and system time of the tree, in seconds, with its children that have ended. */
export function readCpuSeconds(pid: number, without?: number): number {
  const excluded = without === undefined ? new Set<number>() : new Set(treeOf(without))
  const members = treeOf(pid).filter((member) => !excluded.has(member))
  return members.reduce((sum, member) => sum + (readStat(member)?.seconds ?? 0), 0)
}

/** Returns the memory of the living tree in MB, shared pages counted once. */
export function readMemoryMb(pid: number, without?: number): number {
  const excluded = without === undefined ? new Set<number>() : new Set(treeOf(without))
  const members = treeOf(pid).filter((member) => !excluded.has(member))
  return members.reduce((sum, member) => sum + readShareMb(member), 0)
}

function readShareMb(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
    return Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

/** Pins the tree, all its threads and its future children to cores, such as 0 or '0-3'. */
export function pinTree(pid: number, core: number | string): void {
  for (const member of treeOf(pid))
    spawnSync('taskset', ['-a', '-cp', String(core), String(member)])
}

/** Sends SIGKILL to the process and all its descendants. */
export function killTree(pid: number): void {
  for (const member of treeOf(pid)) {
    try {
      process.kill(member, 'SIGKILL')
    } catch {
      // It has already exited.
    }
  }
}
