/** The settings of the embedded server. */
import { diskBytes, walMegabytes } from './disk.ts'

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '64MB',
  // The gateway guarantees durability: never trade these settings for speed.
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_compression: 'on',
  min_wal_size: '64MB',
  wal_level: 'replica',
  max_wal_senders: '2',
  jit: 'off',
  log_checkpoints: 'off',
  // After a crash every file is synced before recovery; on Linux one call does it.
  ...(process.platform === 'linux' ? { recovery_init_sync_method: 'syncfs' } : {}),
}

/** Returns the settings of the server on this cluster, with those that a test server overrides. */
export function chooseSettings(
  cluster: string,
  overrides: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...SETTINGS, max_wal_size: `${walMegabytes(diskBytes(cluster))}MB`, ...overrides }
}
