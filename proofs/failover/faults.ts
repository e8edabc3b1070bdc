/** Faults of the leader; each resolves when it is over and every node may run again. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../server/base/database/connection/client.ts'
import { until } from '../../tests/support/until.ts'
import type { Cluster, ClusterNode } from './cluster.ts'

/** Longer than the leader's lock lasts, so that another one is promoted. */
const AWAY_MS = 35_000
const PROMOTED_MS = 90_000
const FULL_MS = 20_000
const DISK_MEGABYTES = 1_024
/** The pause between two log segments that a leader without disk space is made to begin. */
const SEGMENT_MS = 200

export interface ClusterFault {
  readonly name: string
  readonly run: (cluster: Cluster, leader: ClusterNode) => Promise<void>
}

async function untilOther(cluster: Cluster, leader: ClusterNode): Promise<void> {
  const isOther = async () => {
    const now = await cluster.leader()
    return now !== undefined && now !== leader
  }
  await until('another leader', isOther, PROMOTED_MS)
}

async function switchOver(cluster: Cluster, leader: ClusterNode): Promise<void> {
  const standby = (await cluster.members()).find(({ role }) => role === 'sync_standby')
  const body = { leader: leader.name, candidate: standby?.name }
  const answer = await cluster.ask(leader, 'POST', '/switchover', body)
  if (!answer.ok) throw new Error(`switchover: ${answer.status} ${await answer.text()}`)
}

async function restart(cluster: Cluster, node: ClusterNode): Promise<void> {
  const answer = await cluster.ask(node, 'POST', '/restart', {})
  if (!answer.ok) throw new Error(`restart: ${answer.status} ${await answer.text()}`)
}

const KILLED: ClusterFault = {
  name: 'leader killed',
  async run(cluster, leader) {
    cluster.signal(leader, 'SIGKILL')
    await untilOther(cluster, leader)
    await cluster.start(leader)
  },
}

const FROZEN: ClusterFault = {
  name: 'leader frozen',
  async run(cluster, leader) {
    cluster.signal(leader, 'SIGSTOP')
    await sleep(AWAY_MS)
    await untilOther(cluster, leader)
    cluster.signal(leader, 'SIGCONT')
  },
}

const CUT_OFF: ClusterFault = {
  name: 'leader cut off from etcd',
  async run(cluster, leader) {
    const end = leader.relay.cut()
    await sleep(AWAY_MS)
    await untilOther(cluster, leader)
    end()
  },
}

/**
 * A leader that cannot reuse old segments of its log ends, and another one is promoted; one that
 * can stays, and statements fail until there is space again.
 */
const DISK_FULL: ClusterFault = {
  name: 'disk of the leader full',
  async run(cluster, leader) {
    const ballast = join(leader.folder, 'ballast')
    const piece = Buffer.alloc(1024 * 1024)
    try {
      for (let written = 0; written < DISK_MEGABYTES; written += 1) {
        writeFileSync(ballast, piece, { flag: 'a' })
      }
    } catch {
      // The disk is full.
    }
    const sql = connect({ url: cluster.urlOf(leader) }, { connections: 1 })
    const write = () => sql`select pg_logical_emit_message(false, 'proof', 'x'), pg_switch_wal()`
    const timer = setInterval(() => void write().catch(() => undefined), SEGMENT_MS)
    await sleep(FULL_MS)
    clearInterval(timer)
    await sql.end({ timeout: 1 })
    writeFileSync(ballast, '')
  },
}

const SWITCHOVER: ClusterFault = { name: 'planned switchover', run: switchOver }

/** As for a minor release: both standbys first, then the leader once it is one itself. */
const ROLLING: ClusterFault = {
  name: 'rolling restart of all three',
  async run(cluster, leader) {
    for (const node of cluster.nodes.filter((one) => one !== leader)) {
      await restart(cluster, node)
      await cluster.untilWhole()
    }
    await switchOver(cluster, leader)
    await cluster.untilWhole()
    await restart(cluster, leader)
  },
}

export const FAULTS = [
  FROZEN,
  FROZEN,
  FROZEN,
  KILLED,
  CUT_OFF,
  DISK_FULL,
  SWITCHOVER,
  ROLLING,
] as const
