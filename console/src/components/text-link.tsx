/** A link in a text, to another page of the console. */
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import classes from './text-link.module.css'

interface TextLinkProps {
  readonly to: string
  readonly search?: Readonly<Record<string, string>>
  readonly children: ReactNode
}

export function TextLink({ to, search, children }: TextLinkProps) {
  return (
    <Link to={to} search={search ?? {}} className={classes.link}>
      {children}
    </Link>
  )
}
