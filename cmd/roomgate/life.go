package main

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// life is the type of a flag that says how long something holds, as 8h or 7d. A day
// has 24 hours.
type life time.Duration

// lifeFlag adds such a flag, which GetDuration reads.
func lifeFlag(cmd *cobra.Command, name string, value time.Duration, usage string) {
	held := life(value)
	cmd.Flags().Var(&held, name, usage)
}

func (l *life) String() string {
	if *l == 0 {
		return "0"
	}
	return time.Duration(*l).String()
}

// Type is the one that GetDuration asks for.
func (l *life) Type() string { return "duration" }

func (l *life) Set(word string) error {
	d, err := time.ParseDuration(word)
	if days, ok := strings.CutSuffix(word, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		if most := int(math.MaxInt64 / (24 * time.Hour)); n > most || n < -most {
			return fmt.Errorf("it is more than %d days", most)
		}
		d = time.Duration(n) * 24 * time.Hour
	}
	if err != nil {
		return fmt.Errorf("it is no length of time: want one as 90m, 8h or 7d")
	}
	*l = life(d)
	return nil
}

// toldAt is when a gateway answered by the clock of its machine. The clock of whoever
// asks may be another. Without that time in the answer it is this machine's.
func toldAt(answer *http.Response) time.Time {
	if t, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		return t
	}
	return time.Now()
}
