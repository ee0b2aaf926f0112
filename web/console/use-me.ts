// The operator who is signed in, and what the role may do.
import { useQuery } from '@tanstack/react-query'
import type { Me } from '../../src/operator/console/contract/contract.ts'
import { meQuery } from './queries.ts'

/** Inside the frame of routes.tsx somebody is signed in; while a session ends, nobody is. */
export function useMe(): Me | null {
  return useQuery(meQuery).data ?? null
}

/** `const may = useMay(); may('payments.refund')` */
export function useMay(): (permission: string) => boolean {
  const me = useMe()
  return (permission) => me?.permissions.includes(permission) === true
}
