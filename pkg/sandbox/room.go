package sandbox

import "slices"

// room tells whether one more of a class may wait that takes so many bytes. For that, what
// others have and do not need goes, if it is enough. The caller holds mu.
func (p *pool) room(c *class, size int64) bool {
	count, bytes := p.used()
	if count < p.opts.Containers && bytes+size <= p.opts.MemoryBytes {
		return true
	}
	idle := p.idle(c)
	going := 0
	for ; count >= p.opts.Containers || bytes+size > p.opts.MemoryBytes; going++ {
		if going == len(idle) {
			return false
		}
		count--
		bytes -= idle[going].bytes()
	}
	for _, r := range idle[:going] {
		p.evict(r)
	}
	return true
}

// idle are the containers of classes other than c that were left over since those shrank, or for which
// nobody has asked since c has had nothing twice, which tells that c is wanted more; those first that were
// asked for the longest ago. What has worked for a tenant is dear, and his for its time. The caller holds mu.
func (p *pool) idle(c *class) (all []*prepared) {
	for _, other := range p.classes {
		n := other.spare
		if other.last < c.missed[0] && !other.want.kept {
			n = len(other.ready)
		}
		if n = min(n, len(other.ready)-other.least); other != c && n > 0 {
			all = append(all, other.ready[:n]...)
		}
	}
	slices.SortStableFunc(all, func(a, b *prepared) int { return a.class.last - b.class.last })
	return all
}

// evict removes a container of those that are idle, for which nothing else is made. The caller holds mu.
func (p *pool) evict(r *prepared) {
	c := r.class
	if !c.want.kept {
		c.target--
	}
	c.spare = max(0, c.spare-1)
	c.ready = slices.DeleteFunc(c.ready, func(other *prepared) bool { return other == r })
	p.discard(r)
}

// used is how many containers there are, and what they take. The caller holds mu.
func (p *pool) used() (count int, bytes int64) {
	kin := p.kin()
	count, bytes = p.making+kin, int64(kin)*(baseBytes+ancestorBytes)
	for _, c := range p.classes {
		count += len(c.ready)
		bytes += int64(len(c.making)) * max(c.size, baseBytes)
		for _, r := range c.ready {
			bytes += r.bytes()
		}
	}
	return count, bytes
}
