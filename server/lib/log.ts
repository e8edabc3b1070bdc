/** What every part may log; fields outside server/app/log.ts's allow-list are dropped there. */
export interface Log {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}
