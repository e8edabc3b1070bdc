/** Switches between the pages of an account and those of the operators. */
import { Link, useLocation } from '@tanstack/react-router'
import { useMessages } from '../../lib/i18n.tsx'
import { isOperatorPath, useSession } from '../../lib/session.tsx'
import { messages } from '../messages.ts'
import type { Area } from '../pages.ts'
import classes from './workspace-switch.module.css'

/** Returns the workspace of the page that is shown; customers have one, even on a wrong link. */
export function useArea(): Area {
  const { pathname } = useLocation()
  const { user } = useSession().session
  return user.operator && isOperatorPath(pathname) ? 'operator' : 'customer'
}

export function WorkspaceSwitch() {
  const t = useMessages(messages)
  const area = useArea()
  const choice = (of: Area, to: string, label: string) => (
    <Link
      to={to}
      search={{}}
      className={classes.choice}
      activeOptions={{ exact: true }}
      data-here={area === of || undefined}
      aria-current={area === of ? 'true' : undefined}
    >
      {label}
    </Link>
  )
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for fields, these are links
    <div role="group" aria-label={t('workspace')} className={classes.switch}>
      {choice('customer', '/', t('customerArea'))}
      {choice('operator', '/operator', t('operatorArea'))}
    </div>
  )
}
