/** An independent model of the ledger's rules, in plain arithmetic, without any of its code. */
export interface ModelHold {
  readonly account: string
  readonly amount: bigint
  open: boolean
}

export interface ModelAccount {
  available: bigint
  held: bigint
  debt: bigint
}

export class LedgerModel {
  readonly accounts = new Map<string, ModelAccount>()
  readonly holds = new Map<string, ModelHold>()
  readonly credits = new Set<string>()

  account(id: string): ModelAccount {
    const account = this.accounts.get(id)
    if (!account) throw new Error(`the model has no account ${id}`)
    return account
  }

  credit(id: string, accountId: string, amount: bigint): boolean {
    if (this.credits.has(id)) return false
    this.credits.add(id)
    const account = this.account(accountId)
    const repaid = amount < account.debt ? amount : account.debt
    account.debt -= repaid
    account.available += amount - repaid
    return true
  }

  /** Debits the amount if that is allowed. Returns false if it is not. */
  debit(id: string, accountId: string, amount: bigint): boolean {
    const account = this.account(accountId)
    if (account.available < amount) return false
    this.credits.add(id)
    account.available -= amount
    return true
  }

  hold(id: string, accountId: string, amount: bigint): 'held' | 'insufficient' | 'in_debt' {
    const account = this.account(accountId)
    if (amount > 0n && account.debt > 0n) return 'in_debt'
    if (account.available < amount) return 'insufficient'
    account.available -= amount
    account.held += amount
    this.holds.set(id, { account: accountId, amount, open: true })
    return 'held'
  }

  /** Settles a hold; a null charge releases it. Returns false if it was closed before. */
  close(id: string, charge: bigint | null): boolean {
    const hold = this.holds.get(id)
    if (!hold?.open) return false
    hold.open = false
    const account = this.account(hold.account)
    const owed = charge ?? 0n
    account.held -= hold.amount
    if (owed <= hold.amount) {
      account.available += hold.amount - owed
      const repaid = account.available < account.debt ? account.available : account.debt
      account.available -= repaid
      account.debt -= repaid
      return true
    }
    const beyond = owed - hold.amount
    const paid = beyond < account.available ? beyond : account.available
    account.available -= paid
    account.debt += beyond - paid
    return true
  }

  openHolds(): string[] {
    return [...this.holds].filter(([, hold]) => hold.open).map(([id]) => id)
  }
}
