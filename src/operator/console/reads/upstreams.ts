// Where requests go now: the state of each credential, over all processes.
import type { OperatorModules } from '../../desk/modules.ts'
import type * as contract from '../contract/contract.ts'

export async function readUpstreams({
  upstreams,
}: Pick<OperatorModules, 'upstreams'>): Promise<contract.Upstream[]> {
  return (await upstreams.overview()).map((line) => {
    const { target, upstream, isDrained, underWay, succeeded, failed } = line
    return {
      ...{ target, upstream, isDrained, underWay, succeeded, failed },
      state: line.out ?? line.state,
    }
  })
}
