/** An account's name, with the end of its id: two accounts may have one name. */
import { Text } from '@mantine/core'
import classes from './account-name.module.css'
import { type NamedAccount, shortId } from './name-account.ts'

export function AccountName({ id, name }: NamedAccount) {
  return (
    <span className={classes.name} title={`${name} · ${id}`}>
      <span className={classes.text}>{name}</span>{' '}
      <Text component="span" size="xs" c="dimmed" className={classes.id}>
        {shortId(id)}
      </Text>
    </span>
  )
}
