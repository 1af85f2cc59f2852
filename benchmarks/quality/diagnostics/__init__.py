"""Wrong knowledge and doubtful labels: how well they are found."""
