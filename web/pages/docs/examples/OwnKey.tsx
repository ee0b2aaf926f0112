// Tells the examples which key this browser has. Renders nothing: the hooks need a signed-in owner,
// and most readers of the documentation are not.
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { keyQuery } from '../../../runtime/queries.ts'
import { type Reveal, useReveal, useStoredKeys } from '../../key/stored-keys.ts'

export type OwnKey = Pick<Reveal, 'plain' | 'show' | 'hide' | 'read'> & { readonly last4: string }
type OnChange = (own: OwnKey | undefined) => void

export function WatchOwnKey(props: { readonly account: string; readonly onChange: OnChange }) {
  const { account, onChange } = props
  const { data: state } = useQuery(keyQuery)
  const stored = useStoredKeys(account, state)
  const active = state?.active
  if (active == null || stored?.hasActive !== true) return null
  return <WatchKey account={account} keyId={active.id} last4={active.last4} onChange={onChange} />
}

function WatchKey(props: {
  readonly account: string
  readonly keyId: string
  readonly last4: string
  readonly onChange: OnChange
}) {
  const { account, keyId, last4, onChange } = props
  const { plain, show, hide, read } = useReveal(account, keyId)
  useEffect(() => {
    onChange({ plain, show, hide, read, last4 })
  }, [plain, show, hide, read, last4, onChange])
  useEffect(() => () => onChange(undefined), [onChange])
  return null
}
