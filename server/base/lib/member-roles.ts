/** The roles of an account's members. */

export const MEMBER_ROLES = ['owner', 'billing', 'developer', 'viewer'] as const

/**
 * `owner`: everything. `billing`: reads, and pays. `developer`: reads, makes calls, has keys of
 * their own. `viewer`: reads.
 */
export type MemberRole = (typeof MEMBER_ROLES)[number]

/** Roles that may be written in place of another: `member` is what developers were called. */
export function readMemberRole(text: string): MemberRole | undefined {
  return text === 'member' ? 'developer' : MEMBER_ROLES.find((role) => role === text)
}

/** Returns true for roles that may have keys, the playground's among them. */
export function mayHaveKeys(role: MemberRole): boolean {
  return role === 'owner' || role === 'developer'
}
