/** Every handler of the admin API, area by area, in the order of the contract. */
import type { ADMIN_CONTRACT } from '../contract/index.ts'
import type { HandlersOf } from '../handler.ts'
import { balanceHandlers } from './balance.ts'

export const ADMIN_HANDLERS: HandlersOf<typeof ADMIN_CONTRACT> = { ...balanceHandlers }
